# Sourced by the programs of this folder: installs the Debian packages that the tests use where they are missing
# and this user may.

# program:package
needed=(git:git strace:strace bwrap:bubblewrap unshare:util-linux setpriv:util-linux ssh:openssh-client sshd:openssh-server git-lfs:git-lfs nginx:nginx-light openssl:openssl curl:curl python3:python3 redis-server:redis-server etcd:etcd-server zsh:zsh fish:fish ip:iproute2 chromium-headless-shell:chromium-headless-shell)
missing=()
for pair in "${needed[@]}"; do
  command -v -- "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done

if ((${#missing[@]} > 0)); then
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing with apt-get: ${missing[*]}"
    log=$(mktemp)
    # Where nothing says whether packages may start services: these are for tests, which start their own.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
      printf '#!/bin/sh\nexit 101\n' >"$policy"
      chmod 0755 "$policy"
      own_policy=$policy
    fi
    if ! { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends -- "${missing[@]}"; } </dev/null >"$log" 2>&1; then
      tail -n 15 "$log"
      echo "apt-get failed; the tests that need ${missing[*]} are skipped with that reason, or fail where all tools are required."
    fi
    rm -f -- "$log" ${own_policy:+"$own_policy"}
  else
    echo "Missing: ${missing[*]}. The tests that need them will be skipped with that reason."
  fi
fi

command -v terraform >/dev/null 2>&1 || echo "No terraform on the PATH: the tests that run it will be skipped with that reason."
command -v kubectl >/dev/null 2>&1 || echo "No kubectl on the PATH: the tests that need a cluster are skipped with that reason, or fail where all tools are required."

if ! command -v npm >/dev/null 2>&1; then
  echo "npm is missing: install Node 18 or later with npm." >&2
  exit 1
fi
