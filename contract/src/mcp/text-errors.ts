/** Operations with errors in plain text: their callers show the body of an error unchanged. */

/** Prefix of the paths of operations for MCP servers. */
export const mcpBase = '/mcp';

/** @param path below `/api` */
export function hasTextErrors(path: string): boolean {
  return path === mcpBase || path.startsWith(`${mcpBase}/`);
}
