/** Who asks: the user that credentials stand for, with the role in each organization. */
export interface Actor {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** Role by organization id. */
  readonly roles: ReadonlyMap<string, string>;
}

/** What the service does of its own accord (sweeps, timers) is written down under this user. */
export const systemUserId = 'envarium';
