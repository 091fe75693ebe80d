/** Loaded before a test file: ends its process when it takes too long, and says what still keeps it. */
const minutes = Number(process.env.TEST_FILE_MINUTES);

if (minutes > 0) {
  setTimeout(() => {
    process.stderr.write(
      `Ended after ${minutes} minutes; still open: ${process.getActiveResourcesInfo().join(', ') || 'nothing'}\n`,
    );
    process.exit(1);
  }, minutes * 60_000).unref();
}
