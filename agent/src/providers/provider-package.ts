/** One package of a provider: a version of it for one platform. */
import { valid } from 'semver';

export interface ProviderPackage {
  /** The registry's host, with its port unless it is the default. */
  readonly host: string;
  readonly namespace: string;
  readonly type: string;
  readonly version: string;
  /** For example `linux_amd64`, as registries and tools write it. */
  readonly platform: string;
}

const hostPattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/;
const partPattern = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Whether every part is valid in a file's path. */
export function isSound(one: ProviderPackage): boolean {
  const areParts =
    hostPattern.test(one.host) && [one.namespace, one.type].every((part) => partPattern.test(part));
  return (
    areParts &&
    valid(one.version) === one.version.replace(/\+.*$/, '') &&
    /^[a-z0-9]+_[a-z0-9]+$/.test(one.platform)
  );
}

/** For messages: `registry.terraform.io/hashicorp/aws 5.100.0`. */
export function nameOf({ host, namespace, type, version }: Omit<ProviderPackage, 'platform'>): string {
  return `${host}/${namespace}/${type} ${version}`;
}
