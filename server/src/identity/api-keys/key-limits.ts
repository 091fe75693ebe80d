/** The expiry of a key, and the networks that it is accepted from. */
import type { Context } from '../../framework/context.ts';
import { problemOfNetwork } from '../../framework/http/callers/networks.ts';
import { badField } from '../../ground/errors.ts';

export interface RequestedLimits {
  readonly expiresAt?: string | null;
  readonly networks?: readonly string[] | null;
}

/** @throws Refusal 400 for a time that has passed, or what is not a network */
export function limitColumns(
  { now }: Pick<Context, 'now'>,
  { expiresAt, networks }: RequestedLimits,
): { expires_at?: Date | null; networks?: string[] } {
  const at = typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt;
  if (at instanceof Date && !(at > now())) throw badField('body.expiresAt', 'must be in the future');
  for (const [index, network] of (networks ?? []).entries()) {
    const problem = problemOfNetwork(network);
    if (problem !== null) throw badField(`body.networks.${index}`, problem);
  }
  return {
    ...(at === undefined ? {} : { expires_at: at }),
    ...(networks ? { networks: [...new Set(networks)] } : {}),
  };
}
