/** Names of workspaces that the service generates. */

const beginning = 'envarium';
const digits = 6;

/** The name of an environment's workspace, by default. */
export function generatedWorkspaceName(environmentId: string): string {
  return `${beginning}${environmentId.slice(-digits)}`;
}

/** Whether a name has the form of those that are generated, for whichever environment. */
export function hasGeneratedForm(workspaceName: string): boolean {
  return new RegExp(`^${beginning}[0-9a-f]{${digits}}$`).test(workspaceName);
}
