/**
 * For tests: attacks on the agent that are races. Each is tried a few times by a test that always runs, and a
 * hundred times by a slow one.
 */
import { findProgram } from '../src/processes/programs.ts';
import { withBubblewrap, withTerraformAsRoot } from './runner-setup.ts';

/** The kinds of confinement that keep runs apart, with their options of a setup. */
export const confinements = [
  { name: 'in namespaces, as root', skip: withTerraformAsRoot.skip, options: {} },
  { name: 'by its user alone', skip: withTerraformAsRoot.skip, options: { isolation: 'off' as const } },
  {
    name: 'in namespaces, as an ordinary user',
    skip: withBubblewrap.skip,
    options: { asOrdinaryUser: true },
  },
];

const renameat2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const number = renameat2[process.arch];
const perl = findProgram('perl');

/** Why two paths cannot be exchanged here, or false. */
export const withoutExchange =
  perl === null ? 'needs perl' : number === undefined ? `renameat2 is not known for ${process.arch}` : false;

/**
 * A command that exchanges two paths as fast as it can.
 * @param seconds how long; then they are as before or exchanged
 * @param often Perl that it also does from time to time
 * @returns program and arguments
 */
export function exchanging(left: string, right: string, seconds: number, often = ''): [string, string[]] {
  const script = `my ($left, $right, $seconds) = @ARGV; my $end = time + $seconds;
for (my $count = 0; time < $end; $count++) {
  syscall(${number}, -100, $left, -100, $right, 2);
  if ($count % 50 == 0) { ${often} }
}`;
  return [perl ?? '', ['-e', script, left, right, String(seconds)]];
}

/** The same as a line of a shell's script. */
export function exchangingLine(...request: Parameters<typeof exchanging>): string {
  const [program, args] = exchanging(...request);
  return [program, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
}
