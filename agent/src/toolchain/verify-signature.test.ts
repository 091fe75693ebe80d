import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createMessage,
  generateKey,
  readKey,
  readKeys,
  readPrivateKey,
  reformatKey,
  revokeKey,
  sign,
} from 'openpgp';
import { hashicorpKey, opentofuKey } from '#protocol/tools/keys/index.ts';
import { shortKeyIds, verifySignature } from './verify-signature.ts';

const text = Buffer.from('aaaa  terraform_1.0.0_linux_amd64.zip\n');
const day = 86_400_000;
const owner = [{ name: 'Publisher', email: 'publisher@localhost' }];

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * day);
}

async function makeKey(options: { date?: Date; keyExpirationTime?: number } = {}) {
  const { privateKey, publicKey } = await generateKey({ type: 'ecc', userIDs: owner, ...options });
  return { key: await readPrivateKey({ armoredKey: privateKey }), publicKey };
}

async function signed(key: Awaited<ReturnType<typeof makeKey>>['key'], date?: Date): Promise<Uint8Array> {
  const message = await createMessage({ binary: text });
  return sign({ message, signingKeys: key, detached: true, format: 'binary', ...(date ? { date } : {}) });
}

test("publishers' keys have the fingerprints that they publish", async () => {
  const hashicorp = await readKey({ armoredKey: hashicorpKey });
  assert.equal(hashicorp.getFingerprint(), 'c874011f0ab405110d02105534365d9472d7468f');
  const [opentofu] = await readKeys({ armoredKeys: opentofuKey });
  assert.equal(opentofu?.getFingerprint(), 'e3e6e43d84cb852eadb0051d0c0af313e5fd9f80');
  assert.deepEqual(await shortKeyIds(hashicorpKey), ['72D7468F']);
  for (const key of [hashicorp, opentofu!]) await key.getSigningKey();
  const [, , present] = hashicorp.subkeys;
  for (const time of ['2021-05-01', '2026-02-01', '2030-01-01']) await present!.verify(new Date(time));
});

// Of the release of terraform-provider-null 3.1.0, signed on 2021-04-22 by a subkey that expired in 2022.
const publishedChecksums = `fea4227271ebf7d9e2b61b89ce2328c7262acd9fd190e1fd6d15a591abfa848e  terraform-provider-null_3.1.0_darwin_amd64.zip
9ebf4d9704faba06b3ec7242c773c0fbfe12d62db7d00356d4f55385fc69bfb2  terraform-provider-null_3.1.0_darwin_arm64.zip
a6576c81adc70326e4e1c999c04ad9ca37113a6e925aefab4765e5a5198efa7e  terraform-provider-null_3.1.0_freebsd_386.zip
5f9200bf708913621d0f6514179d89700e9aa3097c77dac730e8ba6e5901d521  terraform-provider-null_3.1.0_freebsd_amd64.zip
fc39cc1fe71234a0b0369d5c5c7f876c71b956d23d7d6f518289737a001ba69b  terraform-provider-null_3.1.0_freebsd_arm.zip
c797744d08a5307d50210e0454f91ca4d1c7621c68740441cf4579390452321d  terraform-provider-null_3.1.0_linux_386.zip
53e30545ff8926a8e30ad30648991ca8b93b6fa496272cd23b26763c8ee84515  terraform-provider-null_3.1.0_linux_amd64.zip
cecb6a304046df34c11229f20a80b24b1603960b794d68361a67c5efe58e62b8  terraform-provider-null_3.1.0_linux_arm64.zip
e1371aa1e502000d9974cfaff5be4cfa02f47b17400005a16f14d2ef30dc2a70  terraform-provider-null_3.1.0_linux_arm.zip
a8a42d13346347aff6c63a37cda9b2c6aa5cc384a55b2fe6d6adfa390e609c53  terraform-provider-null_3.1.0_windows_386.zip
02a1675fd8de126a00460942aaae242e65ca3380b5bb192e8773ef3da9073fd2  terraform-provider-null_3.1.0_windows_amd64.zip
`;
const publishedSignature = `wsFcBAABCAAQBQJgga+GCRCwtEEJdoW2dgAAo0YQAAW911BGDr2WHLo5NwcZenwHyxL5DX9g+4BknKbc/WxRC1hD8Afi3eygZk1yR6eT4Gp2H
yNOwCjGL1PTONBumMfj9udIeuX8onrJMMvjFHh+bORGxBi4FKr4V3b2ZV1IYOjWMEyyTGRDvwSCdxBkp3apH3s2xZLmRoAj84JZ4KaxGF7hlT0j4IkNyQKd2T5cCByN9DV80+x+HtzaOie
FwJL97iyGj6aznXfKfslK6S4oIrVTwyLTrQbxSxA0LsdUjRPHnJamL3sFOG77qUEUoXG3r61yi5vWV4P5gCH/+C+VkfGHqaB1s0jHYLxoTEXtwthe66MydDBPe2Hd0J12u9ppOIeK3leeb4
uiixWIirNdpWyjr/LU1KKWPxsDqMGYJ9TexyWkXjEpYmIEiY1Rxar8jrLh+FqVAhxRJajjgSRu5pZj50CNeKmmbyolLhPCmICjYYU/xKPGXSyDFqonVVyMWCSpO+8F38OmwDQHIk5AWyc8h
POAZ+g5N95cfUAzEqlvmNvVHQIU40Y6/Ip2HZzzFCLKQkMP1aDakYHq5w4ZO/ucjhKuoh1HDQMuMnZSu4eo2nMTBzYZnUxwtROrJZF1t103avbmP2QE/GaPvLIQn7o5WMV3ZcPCJ+szzzby
7H2e33WIynrY/95ensBxh7mGFbcQ1C59b5o7viwIaaY2`;

test('an old signature still counts, but not for a changed byte', async () => {
  const signature = Buffer.from(publishedSignature, 'base64');
  const signer = await verifySignature(Buffer.from(publishedChecksums), signature, hashicorpKey);
  assert.equal(signer.fingerprint, 'C874011F0AB405110D02105534365D9472D7468F');
  assert.match(signer.name, /^HashiCorp Security/);
  await assert.rejects(
    verifySignature(Buffer.from(publishedChecksums.replace('fea', 'feb')), signature, hashicorpKey),
    /Signed digest did not match/,
  );
});

test('a signature counts both armored and binary', async () => {
  const { key, publicKey } = await makeKey();
  const message = await createMessage({ binary: text });
  const armored = Buffer.from(await sign({ message, signingKeys: key, detached: true }));
  for (const signature of [armored, await signed(key)]) {
    const signer = await verifySignature(text, signature, publicKey);
    assert.deepEqual(signer, {
      fingerprint: key.getFingerprint().toUpperCase(),
      name: 'Publisher <publisher@localhost>',
    });
  }
});

test('a signature counts if its key had not expired when it was made', async () => {
  const { key, publicKey } = await makeKey({ date: daysAgo(100), keyExpirationTime: (50 * day) / 1000 });
  await verifySignature(text, await signed(key, daysAgo(80)), publicKey);
  const { key: unending } = await makeKey();
  await assert.rejects(signed(key), /expired/);
  await assert.rejects(verifySignature(text, await signed(unending), publicKey), /does not belong to/);
});

test('a signature made before its key was extended counts', async () => {
  const { key } = await makeKey({ date: daysAgo(100) });
  const signature = await signed(key, daysAgo(80));
  const { publicKey } = await reformatKey({
    privateKey: key,
    userIDs: owner,
    keyExpirationTime: (365 * day) / 1000,
    date: daysAgo(1),
  });
  await verifySignature(text, signature, publicKey);
});

test('signatures of a revoked key do not count', async () => {
  const { key } = await makeKey({ date: daysAgo(100) });
  const signature = await signed(key, daysAgo(80));
  const { publicKey } = await revokeKey({ key });
  await assert.rejects(verifySignature(text, signature, publicKey), /revoked/);
});

test('signatures of another key, of another text or from the future are refused', async () => {
  const [one, other] = [await makeKey(), await makeKey()];
  const good = await signed(one.key);
  await assert.rejects(
    verifySignature(text, good, other.publicKey),
    /was made by key [0-9A-F]{16}, which does not belong to [0-9A-F]{40}/,
  );
  await assert.rejects(verifySignature(Buffer.from('other'), good, one.publicKey), /digest did not match/);
  await assert.rejects(
    verifySignature(text, await signed(one.key, daysAgo(-30)), one.publicKey),
    /in the future/,
  );
  await assert.rejects(
    verifySignature(text, Buffer.from('<html>'), one.publicKey),
    /is not an OpenPGP signature/,
  );
  await assert.rejects(verifySignature(text, Buffer.from(''), one.publicKey), /is not an OpenPGP signature/);
  await assert.rejects(verifySignature(text, good, 'no key'), /no armored OpenPGP public key/);
  assert.ok((await verifySignature(text, good, `${other.publicKey}\n${one.publicKey}`)).fingerprint);
});
