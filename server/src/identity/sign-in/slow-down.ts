/**
 * Failed sign-ins slow further ones down: those of an account, wherever they come from, and those from an
 * address, whatever account they are about. The numbers are stored, so that they hold on all servers and after
 * a restart. No one can keep a person from signing in where that person has signed in before: failures from
 * such an address are counted apart.
 */
import type { Context } from '../../framework/context.ts';
import { TooManyRequests } from '../../ground/errors.ts';
import {
  deleteAddressesBefore,
  deleteAttemptsBefore,
  forgetAttempts,
  hasSignedInFrom,
  type Pace,
  returnAttempt,
  storeAddress,
  takeAttempt,
} from '../../rows/sign-in/attempt-store.ts';

const day = 86_400;
const ofAccount: Pace = { free: 5, mostSeconds: 900, forgetSeconds: day };
/** Many people may share one address. */
const ofAddress: Pace = { free: 30, mostSeconds: 900, forgetSeconds: 3600 };
const familiarDays = 90;

export interface SignInAttempt {
  /** As it was sent. */
  readonly email: string;
  /** Undefined where there is no such account. */
  readonly userId: string | undefined;
  /** As it is counted. */
  readonly address: string;
}

type SlowDownContext = Pick<Context, 'db' | 'keyHash' | 'now'>;

function before({ now }: SlowDownContext, seconds: number): Date {
  return new Date(now().getTime() - seconds * 1000);
}

/** E-mails of people, and passwords that were typed into the wrong field, are not stored in clear. */
function keyOf({ keyHash }: SlowDownContext, ...parts: string[]): Buffer {
  return keyHash.hash(JSON.stringify(['sign-in', ...parts]));
}

async function take(context: SlowDownContext, key: Buffer, pace: Pace, whose: string): Promise<void> {
  const now = context.now();
  const until = await takeAttempt(context.db, key, now, pace);
  if (until === null) return;
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  throw new TooManyRequests(`Too many failed sign-ins ${whose}: try again in ${seconds} s`, seconds);
}

/**
 * To be called before a password is checked.
 * @returns what to call once it was the right one
 * @throws TooManyRequests while an attempt has to wait
 */
export async function beginAttempt(
  context: SlowDownContext,
  attempt: SignInAttempt,
): Promise<() => Promise<void>> {
  const { userId, address } = attempt;
  const email = attempt.email.toLowerCase();
  const since = before(context, familiarDays * day);
  const isFamiliar = await hasSignedInFrom(context.db, userId ?? '', address, since);
  const addressKey = keyOf(context, 'address', address);
  const accountKey = isFamiliar
    ? keyOf(context, 'account at address', email, address)
    : keyOf(context, 'account', email);
  await take(context, addressKey, ofAddress, 'from your address');
  await take(context, accountKey, ofAccount, 'for this account');
  return async () => {
    await returnAttempt(context.db, addressKey, context.now());
    await forgetAttempts(context.db, accountKey);
    if (userId !== undefined) await storeAddress(context.db, { userId, address, at: context.now() });
  };
}

/** Loop: removes what no longer matters. */
export async function forgetOldAttempts(context: SlowDownContext): Promise<void> {
  await deleteAttemptsBefore(context.db, before(context, ofAccount.forgetSeconds));
  await deleteAddressesBefore(context.db, before(context, familiarDays * day));
}
