/**
 * `npm run screenshots`: the main pages of the web interface in light and dark colours, as docs/images shows
 * them, of a service with example data that is started for it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPage, signIn, startBrowser, startWebService, untilStill } from './browser.ts';
import { colorSchemes, fileOf, imagesFolder, pictures } from './pictures.ts';
import { fillShowcase } from './showcase.ts';

await using service = await startWebService({ settings: { ENVARIUM_RATE_LIMIT: '0' } });
const [browser, shown] = await Promise.all([startBrowser(), fillShowcase(service.client, service.folder)]);
await mkdir(imagesFolder, { recursive: true });
for (const colorScheme of colorSchemes) {
  const page = await openPage(browser, { width: 1360, height: 850, colorScheme });
  await signIn(page, service.url);
  for (const [name, pathOf] of Object.entries(pictures)) {
    await page.goto(service.url + pathOf(shown));
    await untilStill(page);
    if (name === 'log') await page.getByRole('log').getByText('already exists').first().waitFor();
    const file = join(imagesFolder, fileOf(name, colorScheme));
    await writeFile(file, await page.screenshot({ animations: 'disabled' }));
    console.log(file);
  }
  await page.context().close();
}
await browser.close();
