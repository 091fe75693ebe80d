/** The caller: the user of the credentials, with the role in each organization. */
export interface Actor {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** Role by organization id. */
  readonly roles: ReadonlyMap<string, string>;
}

/** The user in the audit trail for what the service does automatically (sweeps, timers). */
export const systemUserId = 'envarium';
