/** The configurations that are deployed, each in a git repository of its own. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** One built-in resource: nothing is downloaded, and the tool itself takes next to no time. */
export const oneResource = `resource "terraform_data" "server" {
  input = "hello"
}

output "message" {
  value = terraform_data.server.output
}
`;

/** The same with a variable. */
export const oneVariable = `variable "text" { type = string }
resource "terraform_data" "it" { input = var.text }
output "text" { value = terraform_data.it.output }
`;

/** A change of that variable. */
export const textVariable = (value: string) => [{ name: 'text', value, type: 1 as const }];

/** Mostly waits, as for a cloud. */
export const oneSecond = `resource "terraform_data" "server" {
  input = "hello"

  provisioner "local-exec" {
    command = "sleep 1"
  }
}

output "message" {
  value = terraform_data.server.output
}
`;

/** Many resources, each of which prints when it was created, in milliseconds since the epoch. */
export const manyResources = (count: number): string => `resource "terraform_data" "server" {
  count = ${count}

  provisioner "local-exec" {
    command = "date +printed-at=%s%3N"
  }
}
`;

/** @param configuration of terraform, or the contents of all files by name @returns the repository's path */
export async function makeRepository(
  folder: string,
  name: string,
  configuration: string | Readonly<Record<string, string>>,
): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  const files = typeof configuration === 'string' ? { 'main.tf': configuration } : configuration;
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), content);
  }
  await git(path, 'init', '--quiet', '--initial-branch', 'main');
  await commitAll(path, 'Configuration');
  return path;
}

/** Commits another value of an output: an ordinary change of the code, which adds no module and no provider. */
export async function commitValue(repository: string, value: string): Promise<void> {
  await writeFile(join(repository, 'release.tf'), `output "release" { value = ${JSON.stringify(value)} }\n`);
  await commitAll(repository, value);
}

async function commitAll(path: string, message: string): Promise<void> {
  await git(path, 'add', '--all');
  await git(path, 'commit', '--quiet', '--message', message);
}

function git(path: string, ...args: string[]) {
  const settings = ['user.name=Envarium', 'user.email=envarium@localhost', 'commit.gpgsign=false'];
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return run('git', ['-C', path, ...settings.flatMap((setting) => ['-c', setting]), ...args], { env });
}
