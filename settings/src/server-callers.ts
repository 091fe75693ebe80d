/** Settings of the server about its callers: how they reach it, and how often. */
import { type SettingTable, setting } from './declaration.ts';
import { count, oneWord, path, redisAddress } from './types.ts';

export const tlsSettings = {
  tlsCertificateFile: setting({
    name: 'ENVARIUM_TLS_CERT_FILE',
    type: path,
    sentence:
      'File with the certificate (PEM) with which the service speaks TLS, followed by those of the authorities in ' +
      'between; requires the key, too. A changed file is used without a restart. Default: plain HTTP.',
  }),
  tlsKeyFile: setting({
    name: 'ENVARIUM_TLS_KEY_FILE',
    type: path,
    sentence: 'File with the private key (PEM, without a password) of that certificate.',
  }),
  tlsLeastVersion: setting({
    name: 'ENVARIUM_TLS_MIN_VERSION',
    type: oneWord(['1.2', '1.3']),
    default: '1.2',
    sentence: 'Lowest version of TLS that callers may use.',
  }),
  hstsSeconds: setting({
    name: 'ENVARIUM_HSTS_SECONDS',
    type: count(0, 100_000_000),
    default: '31536000',
    sentence:
      'Time for which browsers reach the service only over https, once they have (the header ' +
      'strict-transport-security of answers to requests that arrived over TLS). 0: the header is not sent.',
  }),
} satisfies SettingTable;

export const limitSettings = {
  rateLimit: setting({
    name: 'ENVARIUM_RATE_LIMIT',
    type: count(0, 1_000_000_000),
    default: '1000',
    sentence:
      'Maximum number of requests of one address for one method and path in 60 seconds; 0 means no limit. ' +
      'Calls of agents, event streams and states of tools have limits of their own.',
  }),
  agentRateLimit: setting({
    name: 'ENVARIUM_AGENT_RATE_LIMIT',
    type: count(0, 1_000_000_000),
    default: '10000',
    sentence:
      'Maximum number of calls of one agent for one method and path in 60 seconds, whatever its address; 0 means ' +
      'no limit.',
  }),
  streamRateLimit: setting({
    name: 'ENVARIUM_STREAM_RATE_LIMIT',
    type: count(0, 1_000_000_000),
    default: '1000',
    sentence:
      'Maximum number of times in 60 seconds that one key opens the same event stream, whatever its address; ' +
      '0 means no limit.',
  }),
  stateRateLimit: setting({
    name: 'ENVARIUM_STATE_RATE_LIMIT',
    type: count(0, 1_000_000_000),
    default: '1000',
    sentence:
      'Maximum number of requests of tools with one key for one method and state in 60 seconds, whatever their ' +
      'address; 0 means no limit.',
  }),
  rateLimitStore: setting({
    name: 'ENVARIUM_RATE_LIMIT_STORE_URL',
    type: redisAddress,
    orFile: true,
    sentence:
      'Redis or Valkey in which several servers count requests and refused credentials together. Default: each ' +
      'server counts alone.',
  }),
  failureLimit: setting({
    name: 'ENVARIUM_FAILURE_LIMIT',
    type: count(0, 1_000_000),
    default: '30',
    sentence:
      'Maximum number of requests with missing or wrong credentials from one address in 60 seconds; further ' +
      'requests are refused without a check, unless their credentials were valid from there before. 0 means ' +
      'no limit.',
  }),
} satisfies SettingTable;
