/** The page about settings, docs/operate/settings.md. */
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
    'The service, the agent and the `envarium` of a checkout also read the file `.env` at the top of the checkout,',
    'with a line `NAME=value` for each setting. Variables that are already set take precedence.',
    '',
    '| Name | Read by | Value | Default | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
