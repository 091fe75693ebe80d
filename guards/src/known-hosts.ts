/**
 * Trusted ssh hosts: the published keys of the large forges, and those that an operator
 * adds.
 */

/** Lines of a `known_hosts` file. For a host in the operator's own lines, only those lines apply. */
const forges = [
  // https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/githubs-ssh-key-fingerprints
  'github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
  'github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=',
  // https://docs.gitlab.com/user/gitlab_com/#ssh-host-keys-fingerprints
  'gitlab.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf',
  'gitlab.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=',
  // https://support.atlassian.com/bitbucket-cloud/docs/configure-ssh-and-two-step-verification/
  'bitbucket.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO',
  'bitbucket.org ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=',
  // https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
  'ssh.dev.azure.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7Hr1oTWqNqOlzGJOfGJ4NakVyIzf1rXYd4d7wo6jBlkLvCA4odBlL0mDUyZ0/QUfTTqeu+tm22gOsv+VrVTMk6vwRU75gY/y9ut5Mb3bR5BV58dKXyq9A9UeB5Cakehn5Zgm6x1mKoVyf+FFn26iYqXJRgzIZZcZ5V6hrE0Qg39kZm4az48o0AUbf6Sp4SLdvnuMa2sVNwHBboS7EJkm57XQPVU3/QpyNLHbWDdzwtrlS+ez30S3AdYhLKEOxAG8weOnyrtLJAUen9mTkol8oII1edf7mWWbWVf0nBmly21+nZcmCTISQBtdcyPaEno7fFQMDD26/s0lfKob4Kw8H',
] as const;

const line = /^(@(cert-authority|revoked)\s+)?\S+\s+[a-z0-9@.-]+\s+[A-Za-z0-9+/]+={0,3}(\s.*)?$/;

/** @returns the lines of a `known_hosts` file without comments, or undefined if one of them is not valid */
export function readKnownHosts(text: string): string[] | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith('#'));
  return lines.every((each) => line.test(each)) ? lines : undefined;
}

/** @returns the text of a `known_hosts` file: the operator's lines, and the forges that they do not list */
export function knownHostsFile(own: readonly string[]): string {
  const named = new Set(
    own.flatMap((each) => (each.replace(/^@\S+\s+/, '').split(/\s/, 1)[0] ?? '').toLowerCase().split(',')),
  );
  const known = forges.filter((each) => !named.has(each.split(' ', 1)[0] ?? ''));
  return [...own, ...known, ''].join('\n');
}
