/** The repository of approval policies that come with the service; their path is the policy's folder. */
export const catalogueRepository = 'envarium://catalogue';
