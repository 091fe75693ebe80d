/** Import statements of a TypeScript file, read without a compiler: the formatter keeps them in one form. */
import { posix } from 'node:path';

export interface Import {
  /** As written. */
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  /** The imported names; null for all of them. */
  readonly names: readonly string[] | null;
  /** File below the root for imports of our own, else null. */
  readonly file: string | null;
}

const statement = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\sfrom\s+)?['"]([^'"]+)['"]/gm;
const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/**
 * @param file path below the root
 * @param text its content
 * @param aliases `imports` of package.json: `#room/*` → `./folder/*`
 */
export function importsOf(file: string, text: string, aliases: Readonly<Record<string, string>>): Import[] {
  const found = [
    ...Array.from(text.matchAll(statement), ([, type, clause = '{}', specifier = '']) => ({
      specifier,
      isTypeOnly: type !== undefined,
      names: namesIn(clause),
    })),
    ...Array.from(withoutComments(text).matchAll(dynamic), ([, specifier = '']) => ({
      specifier,
      isTypeOnly: false,
      names: null,
    })),
  ];
  return found.map((one) => ({ ...one, file: resolveOwn(file, one.specifier, aliases) }));
}

function namesIn(clause: string): string[] | null {
  const [, listed] = /\{([^}]*)\}/.exec(clause) ?? [];
  if (listed === undefined) return null;
  return Array.from(listed.matchAll(/(?:^|,)\s*(?:type\s+)?(\w+)/g), ([, name = '']) => name);
}

/**
 * The package that a specifier names: `@scope/name/x` → `@scope/name`; null for our own files and Node's
 * modules.
 */
export function packageOf(specifier: string): string | null {
  if (/^(\.|#|node:)/.test(specifier)) return null;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

function resolveOwn(
  file: string,
  specifier: string,
  aliases: Readonly<Record<string, string>>,
): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier);
  for (const [pattern, target] of Object.entries(aliases)) {
    const prefix = pattern.replace('*', '');
    if (specifier.startsWith(prefix))
      return posix.join(target.replace('*', ''), specifier.slice(prefix.length));
  }
  return null;
}
