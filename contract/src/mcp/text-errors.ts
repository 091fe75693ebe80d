/** Which operations refuse in plain text: their callers show the body of an error as it is. */

/** What the paths of operations for MCP servers begin with. */
export const mcpBase = '/mcp';

/** @param path below `/api` */
export function hasTextErrors(path: string): boolean {
  return path === mcpBase || path.startsWith(`${mcpBase}/`);
}
