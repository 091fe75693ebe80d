/** The caller of a request: a user, what identified it, and what it may do. */
import { type Access, noAccess } from './access.ts';

export interface Actor {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** The API key that identified the caller. */
  readonly keyId: string | null;
  /** The browser session that identified the caller. */
  readonly sessionId: string | null;
  readonly access: Access;
}

/** An actor without a key or session, and that has no rights of its own. */
export function actorWithoutRights(userId: string, name = userId): Actor {
  return { userId, name, email: '', keyId: null, sessionId: null, access: noAccess };
}
