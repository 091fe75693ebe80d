/** Refusals of SCIM (RFC 7644, 3.12): below its base path, every error has this form. */
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '#contract/schema/errors.ts';
import { scimBase } from '#contract/scim/operations.ts';
import { Refusal } from '../../../ground/errors.ts';

export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

export class ScimRefusal extends Refusal {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string, code: ErrorCode = 'bad_request') {
    super(code, message);
    this.scimType = scimType;
  }
}

export const scimContentType = 'application/scim+json; charset=utf-8';

/** Whether a request is one of an identity provider, for known paths and others. */
export function isScim({ url }: Pick<FastifyRequest, 'url'>): boolean {
  const path = url.split('?', 1)[0] ?? '';
  return path === scimBase || path.startsWith(`${scimBase}/`);
}

/** The body of an error. */
export function scimErrorBody(refusal: Refusal): object {
  const { status, message } = refusal;
  const scimType =
    refusal instanceof ScimRefusal ? refusal.scimType : status === 400 ? 'invalidSyntax' : undefined;
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: message,
  };
}
