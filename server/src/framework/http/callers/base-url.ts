/** The address and the path at which people and identity providers reach the service, for links that are passed on. */
import { hostname } from 'node:os';
import type { FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { isOverTls } from './credentials.ts';

type AddressSettings = Pick<ServerSettings, 'baseUrl' | 'host' | 'port'>;

const everyAddress = new Set(['0.0.0.0', '::']);
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** A host as addresses write it. */
function written(host: string): string {
  const plain = host.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') ? `[${plain}]` : plain.toLowerCase();
}

/** The address that a request arrived at. */
function arrivedAt({ host, port }: AddressSettings, { socket }: FastifyRequest['raw']): string {
  const own = everyAddress.has(host) ? (socket.localAddress ?? 'localhost') : host;
  return `${written(own)}:${socket.localPort ?? port}`;
}

/**
 * Whether a Host header names this machine: the header is the caller's, and a link that follows it can lead anywhere.
 */
function isOurs({ host }: AddressSettings, request: FastifyRequest, hostHeader: string): boolean {
  const named = URL.parse(`http://${hostHeader}`);
  if (named === null || named.host === '' || named.username !== '' || named.pathname !== '/') return false;
  const { localAddress } = request.raw.socket;
  const ours = [...loopbackNames, hostname().toLowerCase(), written(host)];
  return [...ours, ...(localAddress === undefined ? [] : [written(localAddress)])].includes(named.hostname);
}

/**
 * The configured address. Without one, the Host header of the request if it names this machine, else the address that the
 * request arrived at.
 */
export function baseUrlOf(settings: AddressSettings, request: FastifyRequest): string {
  if (settings.baseUrl !== undefined) return settings.baseUrl;
  const { host } = request;
  const scheme = isOverTls(settings, request) ? 'https' : 'http';
  return `${scheme}://${isOurs(settings, request, host) ? host : arrivedAt(settings, request.raw)}`;
}

/** The path of `ENVARIUM_BASE_URL` without a slash at its end; empty where the service has a whole host. */
export function basePathOf({ baseUrl }: Pick<ServerSettings, 'baseUrl'>): string {
  return baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/+$/, '');
}
