/** Actions of a configuration that tries to get more than its own, and the traces that a test finds of it. */
import { readdir, readFile } from 'node:fs/promises';
import type { Files } from './service.ts';

/** A text in places that no run may reach. */
export const planted = 'planted-0a1b2c3d4e5f';

/**
 * Says REACHED for everything that it should not have reached. `OWN` matches the names that a sandbox shows
 * of its own; without a user of its own, a run can cut the log of its own tool, and nothing else
 * (docs/operate/running.md), so that is not tried there.
 */
export const attack = `exec 2>/dev/null
id -u
grep NoNewPrivs /proc/self/status
try() {
  name=$1; shift
  if "$@" >/dev/null; then echo "REACHED $name"; else echo "tried $name"; fi
}
reads() { [ -n "$(cat "$1" | head -c 1)" ]; }
lists() { [ -n "$(ls -A "$1" | grep -v -x -E "$OWN")" ]; }
env_of() { tr '\\0' '\\n' < "/proc/$1/environ" | grep -q .; }
for process in $SERVER $AGENT $RUNNER $VICTIM; do
  try "environment of $process" env_of $process
  try "folder of $process" ls "/proc/$process/cwd/"
  try "root of $process" ls "/proc/$process/root/"
  try "descriptors of $process" lists "/proc/$process/fd"
  try "end of $process" kill -9 $process
  try "stop of $process" kill -STOP $process
done
for entry in /proc/[0-9]*; do
  if tr '\\0' '\\n' < $entry/environ | grep -q ${planted}; then echo "REACHED a planted word in $entry"; fi
done
for file in sealing.key agent.secret installation.json spool/agent.json; do try "$file" reads "$DATA/$file"; done
for folder in . spool spool/attempts blobs work tools postgresql postgresql/data postgresql/socket; do
  try "list of $folder: $(ls -A "$DATA/$folder" | grep -v -x -E "$OWN" | head -n 3 | tr '\\n' ' ')" lists "$DATA/$folder"
  try "write to $folder" touch "$DATA/$folder/left-here"
  try "rights of $folder" chmod 777 "$DATA/$folder"
done
try "socket" test -w "$DATA/postgresql/socket/.s.PGSQL.5432"
try "database" "$NODE" -e 'require("net").connect(process.argv[1]).on("connect", () => process.exit(0)).on("error", () => process.exit(1))' "$DATA/postgresql/socket/.s.PGSQL.5432"
try "work of another" reads "$DATA/work/$OTHER/tree/main.tf"
try "state of another" lists "$DATA/work/$OTHER/state"
try "home of another" touch "$DATA/work/$OTHER/home/left-here"
try "files of another" lists "$DATA/work/$OTHER"
try "bootstrap secret" reads "$DATA/../bootstrap.secret"
try "rights over its own folder" touch "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/left-here"
try "what git reads" sh -c 'echo x >> "$0"' "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/gitconfig"
for entry in /proc/[0-9]*; do
  if [ -n "$HAS_UID" ] && [ -O $entry ] && [ "$(cat $entry/comm)" = terraform ]; then
    try "the log, by its descriptor" reads $entry/fd/1
    try "the log's end" sh -c ': > '$entry/fd/1
  fi
done
echo attack over
`;

/** Processes that do not want to go: of another session, ignoring signals, forked twice. */
export const stubborn = `setsid sh -c 'trap "" HUP INT TERM; while :; do sleep 7654.321; done' >/dev/null 2>&1 &
( ( setsid sleep 7654.321 >/dev/null 2>&1 & ) & )
nohup sleep 7654.321 >/dev/null 2>&1 &
sleep 0.2
id -u
`;

/** Links and pipes in the places of files that are read or written for the run. */
export const traps = `cd "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/tree" || exit 1
for name in errored.tfstate .terraform.lock.hcl envarium.auto.tfvars.json terraform.tfstate .terraform/terraform.tfstate .terraform/modules/modules.json; do
  mkdir -p "$(dirname $name)"; rm -f $name; ln -s "$TARGET" $name
done
cd ../state || exit 1
for file in $(find . -type f); do rm -f $file; ln -s "$TARGET" $file; done
`;
/** Pipes in the places of files. */
export const pipes = `cd "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/state" || exit 1
for file in $(find . -type f); do rm -f $file; mkfifo $file; (while :; do cat $file >/dev/null; done) >/dev/null 2>&1 & done
mkfifo ../tree/errored.tfstate
sleep 0.1
`;

/** A configuration that runs a script. */
export const running = (script: string): Files => ({
  'script.sh': script,
  'main.tf':
    'resource "terraform_data" "first" { input = "kept" }\nresource "terraform_data" "it" {\n  depends_on = [terraform_data.first]\n  triggers_replace = [var.round]\n  provisioner "local-exec" { command = "sh ${path.module}/script.sh" }\n}\nvariable "round" { default = "one" }\n',
});

export interface AttackProcess {
  readonly pid: number;
  readonly parent: number;
  readonly uid: number;
  readonly command: string;
}

/** All processes of the machine but those of the kernel. */
export async function processes(): Promise<AttackProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
      return {
        pid: Number(pid),
        parent: number('PPid'),
        uid: number('Uid'),
        command: command.replaceAll('\0', ' '),
      };
    }),
  );
  return found.filter(({ command }) => command !== '');
}

/** The nearest process above another whose command holds a text. */
export function ancestor(
  all: readonly AttackProcess[],
  process: AttackProcess,
  command: string,
): AttackProcess | undefined {
  const parent = all.find(({ pid }) => pid === process.parent);
  return parent === undefined || parent.command.includes(command) ? parent : ancestor(all, parent, command);
}
