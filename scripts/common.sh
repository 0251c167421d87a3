# Shared by run.sh and test.sh: install what is missing, build. Sourced with `root` set to the repository.

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

missing_packages() {
  local package
  while read -r package _; do
    case $package in '' | '#'*) continue ;; esac
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done <"$root/scripts/packages.txt"
}

# Says what it will install before it does. Touches neither network nor system when nothing is missing.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "this needs Debian 12 or a relative of it; elsewhere, install what scripts/packages.txt names" >&2
    return 1
  fi
  local missing sudo=()
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt-get: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "not root and no sudo: install these by hand" >&2; return 1; }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -q &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build_in FOLDER "TARGET ..." [CMAKE OPTION]...
build_in() {
  local folder=$root/$1 targets
  read -ra targets <<<"$2"
  mkdir -p "$folder"
  cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "${@:3}" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    return 1
  }
  cmake --build "$folder" --target "${targets[@]}"
}
