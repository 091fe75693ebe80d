/** Reads how git and git-lfs call ssh, and refuses everything that is not reading a repository. */

import type { SshService } from '#guards/git/ssh.ts';
import { isPath, type SshAddress, sshAddressOf } from '#guards/ssh-address.ts';

/** Parses the arguments of git's and git-lfs's ssh call. @throws an Error for anything else */
export function readCall(line: string): { address: SshAddress; service: SshService } {
  const words = JSON.parse(line) as unknown;
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new Error('the call cannot be read');
  const plain: string[] = [];
  let port = 22;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string;
    if (word === '-p') port = Number(words[++index]);
    else if (word === '-o') index += 1;
    else if (!word.startsWith('-') || plain.length > 0) plain.push(word);
  }
  const [destination = '', ...command] = plain;
  const at = destination.lastIndexOf('@');
  if (at < 1) throw new Error(`${destination} has no user: write ssh://git@host/path`);
  const asked = readCommand(command.join(' '));
  const address = sshAddressOf(destination.slice(0, at), destination.slice(at + 1), port, asked.path);
  if ('refusal' in address) throw new Error(`the address ${address.refusal}`);
  return { address, service: asked.service };
}

function readCommand(command: string): { service: SshService; path: string } {
  const [, word = '', quoted, plain] =
    /^(git[- ]upload-pack|git-lfs-authenticate) (?:'([^']*)'|(\S+))( download)?$/.exec(command) ?? [];
  const path = quoted ?? plain ?? '';
  if (word === '' || !isPath(path)) throw new Error('only reading a repository is allowed');
  return { service: word === 'git-lfs-authenticate' ? word : 'git-upload-pack', path };
}
