/** The pictures of the web interface in docs/images. */
import { join } from 'node:path';
import type { Showcase } from './showcase.ts';

/** Folder of the pictures. */
export const imagesFolder = join(import.meta.dirname, '..', '..', 'docs', 'images');

/** Path and name of each picture; docs/start/web.md and the README name the files. */
export const pictures = {
  inbox: () => '/',
  environments: () => '/environments',
  'new-environment': () => '/environments/new',
  environment: ({ environments }) => `/environments/${environments.active}`,
  plan: ({ waitingDeployment }) => `/deployments/${waitingDeployment}`,
  log: ({ failedDeployment }) => `/deployments/${failedDeployment}?tab=log&step=tf%3Aapply`,
  variables: ({ environments }) => `/environments/${environments.waiting}?tab=variables`,
  permissions: () => '/permissions',
} as const satisfies Readonly<Record<string, (shown: Showcase) => string>>;

export const colorSchemes = ['light', 'dark'] as const;

/** The name of a picture's file in docs/images. */
export function fileOf(name: string, colorScheme: (typeof colorSchemes)[number]): string {
  return `${name}-${colorScheme}.png`;
}
