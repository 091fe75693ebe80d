/** Reads of what two people could edit at once: the value with its version, which a change then depends on. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';
import { client } from './client.ts';
import type { Input, Reply } from './queries.ts';

export interface Versioned<Value> {
  readonly value: Value;
  /** For `ifMatch` of the change; undefined: the service did not say. */
  readonly version: string | undefined;
}

type AnySend = (name: OperationName, input: object) => Promise<Answer<unknown>>;

/** Reads one thing with its version, through the cache. */
export function useVersioned<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: { readonly enabled?: boolean } = {},
): UseQueryResult<Versioned<Reply<Name>>> {
  return useQuery<Versioned<Reply<Name>>>({
    queryKey: [name, input, 'versioned'],
    queryFn: async ({ signal }) => {
      const { reply, headers } = await (client.send as AnySend)(name, { ...input, signal });
      return { value: reply as Reply<Name>, version: headers.get('etag') ?? undefined };
    },
    ...options,
  });
}
