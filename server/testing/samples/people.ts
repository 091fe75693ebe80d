import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId } = app;
  const { id } = await ok(app, 'createInvitation', { body: { email: 'guest@example.com', organizationId } });
  return {
    ids: { invitation: id },
    bodies: {
      createInvitation: { email: 'new@example.com' },
      signIn: { email: 'x@example.com' },
      signInCli: { email: 'x@example.com' },
      createAdmin: { email: 'x@example.com' },
    },
  };
};
