/** The table of routes in `contract/src/routes.ts`, for programs that load no schemas. */
import { operations } from '../operations.ts';

/** contract/src/routes.ts */
export function routesFile(): string {
  const lines = Object.values(operations).map(
    ({ name, method, path }) => `  ${name}: ['${method}', '${path}'],`,
  );
  return `/**
 * Method and path of every operation, below \`/api\`: all that the client of a browser and of the command line
 * loads of the operations. Generated from them by \`npm run generate\`.
 */
export const routes = {
${lines.join('\n')}
} as const;
`;
}
