/** Keys of publishers that sign their releases, from the files next to this one; bundles contain them. */
import { readFileSync } from 'node:fs';

/**
 * HashiCorp Security, C874 011F 0AB4 0511 0D02 1055 3436 5D94 72D7 468F, as published on
 * https://www.hashicorp.com/.well-known/pgp-key.txt, valid until 2030-03-01. Its edition of 2021 is merged into it:
 * the present one says nothing of the time before it was prolonged.
 */
export const hashicorpKey = readFileSync(new URL('./hashicorp.asc', import.meta.url), 'utf8');

/**
 * OpenTofu, E3E6 E43D 84CB 852E ADB0 051D 0C0A F313 E5FD 9F80, as published on
 * https://get.opentofu.org/opentofu.asc; does not expire.
 */
export const opentofuKey = readFileSync(new URL('./opentofu.asc', import.meta.url), 'utf8');
