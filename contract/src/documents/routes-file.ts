/** The table of routes in `contract/src/routes.ts`, for programs that load no schemas. */
import { operations } from '../operations.ts';

/** The longest line that the formatter leaves as it is: `lineWidth` in biome.json. */
const width = 110;

/** contract/src/routes.ts */
export function routesFile(): string {
  const lines = Object.values(operations).map(({ name, method, path }) => {
    const line = `  ${name}: ['${method}', '${path}'],`;
    return line.length <= width ? line : `  ${name}: [\n    '${method}',\n    '${path}',\n  ],`;
  });
  return `/**
 * Method and path of every operation, below \`/api\`: all that the client of a browser and of the command line
 * loads of the operations. Generated from them by \`npm run generate\`.
 */
export const routes = {
${lines.join('\n')}
} as const;
`;
}
