/** Editing settings that others may change at the same time. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../../api/client.ts';
import { isStatus } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { refresh } from '../../../api/queries.ts';
import { randomId } from '../../../api/random-id.ts';
import { type EnvironmentReply, environmentReads } from '../facts/reads.ts';
import {
  conflicts,
  differences,
  mergedWith,
  type SettingName,
  type SettingsValues,
  settingsBody,
  settingsOf,
} from './settings-values.ts';

interface SettingsEdits {
  /** Stored values when editing began. */
  readonly began: SettingsValues;
  readonly mine: SettingsValues;
}

/** Someone else has changed the same settings. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
  readonly theirs: SettingsValues;
  readonly names: readonly SettingName[];

  constructor(theirs: SettingsValues, names: readonly SettingName[]) {
    super(`Someone else has changed ${names.join(', ')}`);
    this.theirs = theirs;
    this.names = names;
  }
}

/** A version of an environment changes with each of its deployments: so often that is met while one types. */
const attempts = 5;

/**
 * Sends the changes if no one has changed the same settings since. Depends on the version that was compared, so
 * that nothing can come in between.
 * @throws Overtaken, ApiError
 */
async function send(id: string, { began, mine }: SettingsEdits): Promise<void> {
  const params = { id };
  for (let attempt = 1; ; attempt++) {
    const { reply, headers } = await client.send('getEnvironment', { params });
    const theirs = settingsOf(reply);
    const names = conflicts(began, mine, theirs);
    if (names.length > 0) throw new Overtaken(theirs, names);
    const etag = headers.get('etag');
    try {
      await client.call('updateEnvironment', {
        params,
        body: settingsBody(began, mine),
        idempotencyKey: randomId(),
        ...(etag ? { ifMatch: etag } : {}),
      });
      return;
    } catch (error) {
      if (!isStatus(error, 412) || attempt === attempts) throw error;
    }
  }
}

/** The typed settings, and how they are saved. */
export function useSettings(environment: EnvironmentReply) {
  const [edited, setEdited] = useState<SettingsEdits>();
  const now = settingsOf(environment);
  const values = edited?.mine ?? now;
  const save = useMutation({
    mutationKey: ['updateEnvironment'],
    mutationFn: (what: SettingsEdits) => send(environment.id, what),
    onSuccess: async (_, sent) => {
      showDone('The settings are saved');
      await refresh([...environmentReads, 'listEnvironmentTags']);
      // Edits in the meantime are still to be saved.
      setEdited((now) => (now && now !== sent ? { began: sent.mine, mine: now.mine } : undefined));
    },
  });
  const reset = () => {
    save.reset();
    setEdited(undefined);
  };
  return {
    values,
    isTouched: edited !== undefined && differences(edited.began, edited.mine).length > 0,
    set: (changes: Partial<SettingsValues>) =>
      setEdited({ began: edited?.began ?? now, mine: { ...values, ...changes } }),
    reset,
    save: () => edited && save.mutate(edited),
    /** Replaces the values of another user. */
    replace: () => {
      if (!(save.error instanceof Overtaken) || edited === undefined) return;
      const { theirs } = save.error;
      // Changes by only the other person stay.
      const next = { began: theirs, mine: mergedWith(theirs, edited.began, edited.mine) };
      setEdited(next);
      save.mutate(next);
    },
    isBusy: save.isPending,
    error: save.error,
  };
}

export type SettingsEditing = ReturnType<typeof useSettings>;
