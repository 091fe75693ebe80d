/** The pages about settings: docs/operate/settings.md and .env.example. */
import { namesOf, type Setting } from './declaration.ts';
import { programs } from './settings.ts';

/** Each setting once, with the programs that read it. */
function settingsAndReaders(): { one: Setting; readers: string[] }[] {
  const found = new Map<string, { one: Setting; readers: string[] }>();
  for (const [program, table] of Object.entries(programs)) {
    for (const one of Object.values(table)) {
      const entry = found.get(one.name) ?? { one, readers: [] };
      entry.readers.push(program);
      found.set(one.name, entry);
    }
  }
  return [...found.values()];
}

/** The page docs/operate/settings.md. */
export function settingsPage(): string {
  const rows = settingsAndReaders().map(({ one, readers }) => {
    const names = namesOf(one)
      .map((name) => `\`${name}\``)
      .join(' or ');
    const value = one.default ? `\`${one.default}\`` : '';
    return `| ${names} | ${readers.join(', ')} | ${one.type.allowed} | ${value} | ${one.sentence} |`;
  });
  return [
    '# Settings',
    '',
    'Settings are environment variables. An empty value is the same as an unset variable. If a value is',
    'malformed, or a name starts with `ENVARIUM_` but is not listed here, the program does not start and names it in',
    'its error message. A name that ends in `_FILE` is the path of a file that contains the value.',
    '',
    'The `npm run` commands and the `envarium` of a checkout also read the file `.env` at the top of the checkout: a',
    'copy of `.env.example` with your values. Variables that are already set take precedence.',
    '',
    '| Name | Read by | Value | Default | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The file .env.example: every setting, commented out, with its default. */
export function envExample(): string {
  const blocks = settingsAndReaders().map(
    ({ one, readers }) =>
      `# ${one.sentence}\n# Read by: ${readers.join(', ')}. Value: ${one.type.allowed}.\n${namesOf(one)
        .map((name, index) => `# ${name}=${index === 0 ? (one.default ?? '') : ''}`)
        .join('\n')}\n`,
  );
  const introduction =
    '# All settings with their defaults, as in docs/operate/settings.md. Copy this file to .env in the checkout, and remove\n' +
    '# the "# " before the settings that you change.\n';
  return [introduction, ...blocks].join('\n');
}
