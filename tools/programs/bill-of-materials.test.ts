import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../tree/repository.ts';
import { billOfMaterials } from './bill-of-materials.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { alg: string; content: string }[];
  readonly licenses?: readonly { license?: { id?: string }; expression?: string }[];
}

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity: string;
}

test('the bill of materials lists every production package with its version, licence and hash', async () => {
  const text = await billOfMaterials();
  const bill = JSON.parse(text) as { components: Component[]; metadata: { component: Component } };
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const wanted = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path, { version, integrity }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      return `${name} ${version} ${hash}`;
    });
  const found = bill.components.map(
    ({ name, version, hashes }) =>
      `${name} ${version} ${hashes?.find(({ alg }) => alg === 'SHA-512')?.content}`,
  );
  assert.deepEqual([...new Set(found)].toSorted(), [...new Set(wanted)].toSorted());
  assert.deepEqual(
    bill.components.filter(({ licenses }) => !licenses?.[0]?.license?.id && !licenses?.[0]?.expression),
    [],
  );
  assert.equal(bill.metadata.component.name, 'envarium', 'not the name of the checkout');
  assert.ok(!text.includes(root), 'no path of this machine');
  assert.doesNotMatch(text.replace(/"\$schema": "[^"]+"/, ''), /https?:\/\//, 'no host');
  assert.equal(await billOfMaterials(), text, 'the same for every build of one version');
});
