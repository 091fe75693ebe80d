/**
 * An operation of the public interface as a value. Routes, validation, rights, OpenAPI, the typed client and
 * the coverage page all follow from these values; there is no second description of an operation anywhere.
 */
import type { Static, TSchema } from 'typebox';
import type { Right } from './enumerations.ts';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Prefix of the paths of all operations. */
export const apiBase = '/api';

/** Of bodies that carry variables, each of up to 1 MB. */
export const variablesMegabytes = 16;

/** Entity that a right is checked for, and its place in the request. */
export interface Subject {
  /** As a family of the server declares it, with the way to its organization and project. */
  readonly entity: string;
  readonly in: 'params' | 'query' | 'body';
  readonly field: string;
  /**
   * The right that is needed where a request names this candidate; absent: that of the operation. Candidates
   * with rights of their own exclude each other.
   */
  readonly needs?: Right;
}

/** Declaration of one operation by a family. */
export interface Declaration<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
> {
  readonly method: Method;
  /** Below `/api`, with `{name}` for path parameters. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  /**
   * The right that the caller needs. `signed-in`: any valid credentials; the verb answers with what the
   * caller may see. `nothing`: no credentials are needed; each such operation is also listed in
   * `openOperations`.
   */
  readonly needs: Right | 'signed-in' | 'nothing';
  /**
   * True where it is enough to have the right somewhere in the organization of the subject: the verb answers
   * with what the caller may see.
   */
  readonly needsAnywhere?: boolean;
  /**
   * A right that a part of the requests needs instead of `needs`. Callers with either are admitted, and the verb requires
   * the one that its request needs.
   */
  readonly needsInstead?: { readonly right: Right; readonly for: string };
  /** Rights that parts of a request need as well, which the verb requires. */
  readonly needsToo?: readonly { readonly right: Right; readonly for: string }[];
  /**
   * Entity that the right is checked for; of several candidates, the first one that the request specifies. Absent
   * with `signed-in` and `nothing`.
   */
  readonly subject?: Subject | readonly Subject[];
  readonly params?: Params;
  readonly query?: Query;
  /** Absent: the operation takes no body, and one that is sent is ignored. */
  readonly body?: Body;
  /** True where an empty or missing body means `{}` or "not specified". */
  readonly bodyOptional?: boolean;
  /** Maximum size of a JSON body in MB, where it may carry more than settings (default: 1). */
  readonly bodyMegabytes?: number;
  /**
   * Form of the body: JSON by default; with `binary` the verb reads its bytes from the
   * request.
   */
  readonly bodyKind?: 'json' | 'binary';
  readonly reply: Reply;
  /** Form of the reply: JSON with status 200 by default; `redirect` is a 302 for browsers. */
  readonly replyKind?: 'json' | 'event-stream' | 'binary' | 'redirect';
  /** The content type of a binary reply; absent: `application/octet-stream`. */
  readonly replyType?: string;
  /**
   * Query parameters that leave fields out of the reply (comma-separated paths): the reply is then a part of
   * its schema.
   */
  readonly projectedBy?: readonly string[];
  /**
   * Name of the GET operation that reads what this one changes, where it has another path: its `ETag` is then
   * accepted as `If-Match`. Parameters of its path that this one lacks are fields of the body by the same names.
   * See `reader-of.ts`.
   */
  readonly updates?: string;
  /**
   * True where a verb other than GET waits for systems of others, such as a cloud, a webhook or a git host. It runs
   * in no transaction then, for which readers of events would have to wait, and so under no `Idempotency-Key`.
   */
  readonly asksOthers?: boolean;
  /** Codes of refusals that do not follow from the operation's form, such as `gone`. */
  readonly refusesWith?: readonly ErrorCode[];
  /** Operations of the interface specification, whose fields the coverage page lists. */
  readonly inInterface?: boolean;
}

export interface Operation<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
> extends Declaration<Params, Query, Body, Reply> {
  readonly name: string;
  readonly family: string;
}

/** The rights one of which an operation needs, by what a request names; empty where it needs none. */
export function rightsOf({ needs, needsInstead, subject = [] }: Operation): readonly Right[] {
  if (needs === 'signed-in' || needs === 'nothing') return [];
  const subjects: readonly Subject[] = [subject].flat();
  const instead = needsInstead ? [needsInstead.right] : [];
  return [...new Set([...subjects.map((each) => each.needs ?? needs), ...instead])];
}

type StaticOr<Schema, Fallback> = Schema extends TSchema
  ? TSchema extends Schema
    ? Fallback
    : Static<Schema>
  : Fallback;

export type ParamsOf<O> =
  O extends Operation<infer P, TSchema, TSchema, TSchema> ? StaticOr<P, Record<string, never>> : never;
export type QueryOf<O> =
  O extends Operation<TSchema, infer Q, TSchema, TSchema> ? StaticOr<Q, Record<string, never>> : never;
export type BodyOf<O> =
  O extends Operation<TSchema, TSchema, infer B, TSchema> ? StaticOr<B, undefined> : never;
export type ReplyOf<O> = O extends Operation<TSchema, TSchema, TSchema, infer R> ? Static<R> : never;

/**
 * Declares an operation; its name is the key under which `defineOperations` receives it.
 * @param value everything about it except method and path
 */
export function operation<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
>(
  method: Method,
  path: `/${string}`,
  value: Omit<Declaration<Params, Query, Body, Reply>, 'method' | 'path'>,
): Declaration<Params, Query, Body, Reply> {
  return { method, path, ...value };
}

type NamedOperation<D> =
  D extends Declaration<infer Params, infer Query, infer Body, infer Reply>
    ? Operation<Params, Query, Body, Reply>
    : never;

/**
 * The operations of one family, by name.
 * @param family as the reference names it
 */
export function defineOperations<Declarations extends Readonly<Record<string, Declaration>>>(
  family: string,
  declarations: Declarations,
): { readonly [Name in keyof Declarations]: NamedOperation<Declarations[Name]> } {
  const named = Object.entries(declarations).map(([name, declared]) => [name, { name, family, ...declared }]);
  return Object.fromEntries(named) as { [Name in keyof Declarations]: NamedOperation<Declarations[Name]> };
}
