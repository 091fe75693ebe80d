/** Starts the web interface. */
import '@fontsource-variable/atkinson-hyperlegible-next/index.css';
import '@fontsource-variable/atkinson-hyperlegible-mono/index.css';
import '@mantine/core/styles.css';
import './design/tokens.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries.ts';
import { cssVariables, theme } from './design/theme.ts';
import { router } from './router.tsx';
import { ensureClipboard } from './shell/clipboard.ts';
import { Messages } from './ui/Messages.tsx';

/** The content policy of the page allows only style elements with it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
// Attribute that the library which locks the page behind a dialog reads, too.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// Attribute that is read here to hide the scroll bar behind a dialog.
(globalThis as { __webpack_nonce__?: string | undefined }).__webpack_nonce__ = nonce;

ensureClipboard();

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce ?? ''}
    >
      <Messages />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
