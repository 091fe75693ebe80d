/** Organizations that an agent runs deployments for: its own, or all of them if they share it. */

export interface AgentScope {
  /** The organization that the agent is limited to; null: all organizations share it. */
  readonly onlyOrganizationId: string | null;
}

/** The scope of an agent, as its row has it. */
export function scopeOf(row: { readonly organization_id: string; readonly is_shared: boolean }): AgentScope {
  return { onlyOrganizationId: row.is_shared ? null : row.organization_id };
}

export function serves({ onlyOrganizationId }: AgentScope, organizationId: string): boolean {
  return onlyOrganizationId === null || onlyOrganizationId === organizationId;
}
