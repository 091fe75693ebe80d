/** The reason why `fetch` failed, in words for a person. */
import { errorCode, innermostError } from '#contract/client/temporary-errors.ts';

const strangeAuthority =
  "the authority of the host's certificate is not trusted: name its certificate in ENVARIUM_CA_FILE";
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ENOTFOUND: 'the name of the host is unknown',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_SOCKET: 'the connection was reset',
  CERT_HAS_EXPIRED: "the host's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: strangeAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: strangeAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: strangeAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: strangeAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: "the host's certificate is for another name",
};

/** The innermost cause, in words if possible, else as a code: an address in it might contain credentials. */
export function networkReason(error: unknown): string {
  const inner = innermostError(error);
  const code = errorCode(error);
  const message = (inner as { message?: string }).message ?? String(inner);
  const refusal = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (refusal !== undefined)
    return `the agent's proxy (HTTP_PROXY, HTTPS_PROXY) answered with status ${refusal}`;
  return reasons[code] ?? (code === '' ? message : code);
}
