/**
 * The door of a family: everything about it that the rest of the server may know. Each family has one in its
 * `family.ts`, and `families.ts` lists the families in their order; nothing else lists parts of a family.
 */
import type { FastifyInstance } from 'fastify';
import type { FindHome } from '../rows/entity-home.ts';
import type { Schema } from '../rows/schema.ts';
import type { Context } from './context.ts';
import type { EffectKind } from './effects/effect-kind.ts';
import type { Lock } from './http/changes/if-match.ts';
import type { Route } from './http/route.ts';
import type { Reactions } from './reactions.ts';

/** Work that the service repeats; a pass that fails is logged and tried again at its next turn. */
export interface Loop {
  /** As the log calls it. */
  readonly name: string;
  readonly everySeconds: number;
  /** @param closing aborted when the server stops: a pass that waits ends then */
  pass(context: Context, closing: AbortSignal): Promise<void>;
  /** When there is work again, where that is known and comes before the next turn. */
  readonly nextAt?: (context: Context) => Promise<Date | null>;
}

export interface Family {
  /** The folder of the family in `server/src`. */
  readonly name: string;
  /** Operations of the contract, each with its verb. */
  readonly routes?: readonly Route[];
  /** Registers HTTP that is not an operation of the contract: protocols of tools and agents, pages. */
  readonly plugin?: (app: FastifyInstance, context: Context) => void | Promise<void>;
  readonly loops?: readonly Loop[];
  /** Functions of the family in the transactions of others. */
  readonly reactions?: Reactions<Context>;
  /** Work that transactions promise for afterwards. */
  readonly effects?: readonly EffectKind<unknown>[];
  /** Entities that operations check rights about, each with the way to its organization and project. */
  readonly entities?: Readonly<Record<string, FindHome>>;
  /**
   * Locks an entity until the end of a transaction, as every change of it does: a change under a condition
   * (`If-Match`) requires it.
   */
  readonly locks?: Readonly<Record<string, Lock>>;
  /** Tables that only the stores of this family name in SQL. */
  readonly tables?: readonly (keyof Schema)[];
}
