/** Reading and changing through the interface, cached: the only way in which pages call it. */
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer, CallInput } from '#contract/client/client.ts';
import type { OperationName, operations } from '#contract/operations.ts';
import type { ReplyOf } from '#contract/schema/operation.ts';
import { client } from './client.ts';
import { errorText, isStatus } from './errors.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { showError } from './messages.ts';
import { noteSessionEnd } from './session-end.ts';

export type Reply<Name extends OperationName> = ReplyOf<(typeof operations)[Name]>;
/** Input of a call: parameters of the path, of the query, and the body. */
export type QueryInput<Name extends OperationName> = Omit<CallInput<Name>, 'signal' | 'idempotencyKey'>;

/** Refusals stay refusals; everything else is tried again until the service is back. */
function shouldRetry(failures: number, error: Error): boolean {
  return isStatus(error, 0, 502, 503, 504) || (isStatus(error, 429) && failures < 5);
}

/** Whatever is refused because no one is signed in opens the sign-in. */
function noteRefusal(error: Error): void {
  if (isStatus(error, 401)) noteSessionEnd();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteRefusal }),
  mutationCache: new MutationCache({ onError: noteRefusal }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: shouldRetry,
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 10_000),
      networkMode: 'always',
    },
    // Answers of changes may be secrets that are shown once: they are not kept.
    mutations: { networkMode: 'always', gcTime: 0 },
  },
});

type AnyCall = (name: OperationName, input: object) => Promise<unknown>;
type AnySend = (name: OperationName, input: object) => Promise<Answer<unknown>>;

/** A read, for `useQuery`, loaders and prefetching; its key begins with the operation's name. */
export function read<Name extends OperationName>(name: Name, input?: QueryInput<Name>) {
  return queryOptions({
    queryKey: [name, input ?? {}] as const,
    queryFn: async ({ signal }) =>
      (await (client.call as AnyCall)(name, { ...input, signal })) as Reply<Name>,
  });
}

/** A page of a list with the total number of its rows. */
export interface ListPage<Row> {
  readonly rows: Row;
  readonly total: number;
}

async function askPage<Name extends OperationName>(
  name: Name,
  input: QueryInput<Name> | undefined,
  signal: AbortSignal,
): Promise<ListPage<Reply<Name>>> {
  const { reply, headers } = await (client.send as AnySend)(name, { ...input, signal });
  const rows = reply as Reply<Name>;
  return { rows, total: Number(headers.get('x-total-count') ?? (Array.isArray(rows) ? rows.length : 0)) };
}

/** A read of a page, for `usePage` and for prefetching the one after it. */
export function pageOf<Name extends OperationName>(name: Name, input?: QueryInput<Name>) {
  return {
    queryKey: [name, input ?? {}, 'page'] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) => askPage(name, input, signal),
  };
}

export interface PageOptions<Rows> {
  readonly enabled?: boolean;
  /** Milliseconds until it is read again without an event; false: only after one. */
  readonly againAfter?: (rows: Rows | undefined) => number | false;
}

/**
 * Reads a list that says in a header how many rows there are; the last page stays until the next one is there
 * (`isPlaceholderData`).
 */
export function usePage<Name extends OperationName>(
  name: Name,
  input?: QueryInput<Name>,
  { againAfter, ...options }: PageOptions<Reply<Name>> = {},
): UseQueryResult<ListPage<Reply<Name>>> {
  return useQuery<ListPage<Reply<Name>>>({
    ...pageOf(name, input),
    placeholderData: keepPreviousData,
    ...(againAfter ? { refetchInterval: ({ state }) => againAfter(state.data?.rows) } : {}),
    ...options,
  });
}

/** Something with the tag of the version that was read, for `ifMatch`. */
export interface Tagged<Data> {
  readonly data: Data;
  readonly etag: string | undefined;
}

/**
 * Reads it again. `cancelRefetch: false` waits for a read that is under way instead.
 * @returns with the tag of what is there now; without data if it could not be read
 */
export type Refetch = (options?: {
  readonly cancelRefetch?: boolean;
}) => Promise<{ readonly data: Pick<Tagged<unknown>, 'etag'> | undefined }>;

/** Reads something that is edited: with its tag, so that a change can depend on the version. */
export function useTagged<Name extends OperationName>(
  name: Name,
  input: QueryInput<Name>,
  options: { readonly enabled?: boolean } = {},
): UseQueryResult<Tagged<Reply<Name>>> {
  return useQuery<Tagged<Reply<Name>>>({
    queryKey: [name, input, 'tagged'],
    queryFn: async ({ signal }) => {
      const { reply, headers } = await (client.send as AnySend)(name, { ...input, signal });
      return { data: reply as Reply<Name>, etag: headers.get('etag') ?? undefined };
    },
    ...options,
  });
}

/** Reads through the cache. */
export function useRead<Name extends OperationName>(
  name: Name,
  input?: QueryInput<Name>,
  options: { readonly enabled?: boolean } = {},
): UseQueryResult<Reply<Name>> {
  return useQuery({ ...read(name, input), ...options });
}

/** Reads that show the same things as these operations change are repeated after a change. */
export function refresh(names: readonly OperationName[]): Promise<void> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => names.includes(queryKey[0] as never) });
}

export interface ChangeOptions<Name extends OperationName> {
  /** Changes with the same text are sent one after the other, in the order of the clicks. */
  readonly inOrder?: string;
  /** Reads that the change concerns: they are repeated after it. */
  readonly refreshes: readonly OperationName[];
  /** Called when it is sent. */
  readonly onSend?: () => void;
  readonly onSuccess?: (reply: Reply<Name>, input: QueryInput<Name>) => void;
  /** Called after a success, once the reads are current again. */
  readonly onRefreshed?: () => void;
  /** Shows an error itself and returns true, or leaves it to a message at the edge of the page. */
  readonly onError?: (error: unknown) => boolean;
}

/**
 * A change. What is clicked twice, or sent again because no answer came, is done once.
 * A refusal is shown as a message unless `onError` handles it.
 */
export function useChange<Name extends OperationName>(
  name: Name,
  { inOrder, refreshes, onSend, onSuccess, onRefreshed, onError }: ChangeOptions<Name>,
): UseMutationResult<Reply<Name>, Error, QueryInput<Name>> {
  const [keys] = useState(() => new IdempotencyKeys());
  return useMutation({
    mutationKey: [name],
    ...(inOrder === undefined ? {} : { scope: { id: inOrder } }),
    mutationFn: async (input: QueryInput<Name>) =>
      (await (client.call as AnyCall)(name, {
        ...input,
        idempotencyKey: keys.keyOf(input),
      })) as Reply<Name>,
    onMutate: () => onSend?.(),
    onSettled: (_, error) => keys.ended(error ?? undefined),
    onSuccess: async (reply, input) => {
      onSuccess?.(reply, input);
      await refresh(refreshes);
      onRefreshed?.();
    },
    onError: (error) => {
      // The version of the faster user, for the person who wants to see it: events may be late or missing.
      if (isStatus(error, 412)) void refresh(refreshes);
      if (isStatus(error, 401) || onError?.(error) === true) return;
      showError(errorText(error));
    },
  });
}
