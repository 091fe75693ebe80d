/** Who admits the callers of a route, before anything of their bodies is read. */

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `own`: the route has a hook of its own that identifies the caller; `open`: everybody is admitted.
     * Absent: any valid API key is.
     */
    readonly admission?: 'own' | 'open';
  }
}

/** The configuration of a route that identifies its callers itself, in an `onRequest` hook. */
export const ownAdmission = { admission: 'own' } as const;

/** The configuration of a route that needs no credentials. */
export const openAdmission = { admission: 'open' } as const;
