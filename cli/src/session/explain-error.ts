/** Explains an error that ended a command, and what to do. */
import { ApiError } from '#contract/client/client.ts';

const certificateAdvice =
  'Name the certificate of its authority with ENVARIUM_CA_FILE=<file>, or use another address of the service.';

/** Advice by the code of the innermost error; OpenSSL's and Node's own names. */
const adviceOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing is listening there: is the service running, and are address and port correct?',
  ENOTFOUND: 'There is no such host: is the address correct?',
  EAI_AGAIN: 'The name of the host could not be resolved: is the network up?',
  UND_ERR_CONNECT_TIMEOUT:
    'No response: is the address correct, and is there a proxy or firewall in between?',
  DEPTH_ZERO_SELF_SIGNED_CERT: certificateAdvice,
  SELF_SIGNED_CERT_IN_CHAIN: certificateAdvice,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificateAdvice,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificateAdvice,
  CERT_HAS_EXPIRED:
    "The service's certificate has expired: it must be renewed. Is the clock of this machine correct?",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The service's certificate is for another name: use an address that it contains.",
  ERR_SSL_WRONG_VERSION_NUMBER:
    'That port does not speak TLS: use an http:// address, or the port of the reverse proxy.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG:
    'That port does not speak TLS: use an http:// address, or the port of the reverse proxy.',
};

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...(code === undefined ? [] : [String(code)]), ...codesOf(error.cause), ...inner];
}

function unreachable(error: ApiError): string {
  const advice = codesOf(error.cause).flatMap((code) => adviceOfCode[code] ?? []);
  const first = advice[0] ?? 'Is the service running, and is its address correct?';
  return `${error.message}.\n${first}\nThe address comes from --api-url, ENVARIUM_API_URL or "envarium login".`;
}

/** @returns one or more lines, without a stack */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SyntaxError && error.message.includes('JSON'))
    return 'The server that responded is not Envarium (the response is not JSON). Is the address correct? It comes from --api-url, ENVARIUM_API_URL or "envarium login".';
  if (!(error instanceof ApiError)) return error.message;
  switch (error.code) {
    case 'unauthorized':
      return `${error.message}.\nRun "envarium login", or correct ENVARIUM_API_KEY and ENVARIUM_API_SECRET.`;
    case 'forbidden':
      return `${error.message}.\nAsk an administrator of the organization for the right, or use another key.`;
    case 'rate_limited':
      return `${error.message}.\nTry again later, or raise ENVARIUM_RATE_LIMIT of the service.`;
    case 'unreachable':
      return unreachable(error);
    default:
      return error.status >= 500 && error.requestId
        ? `${error.message} (request ${error.requestId})`
        : error.message;
  }
}
