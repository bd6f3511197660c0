/// <reference path="./docs.d.ts" />
/// <reference path="./github.d.ts" />

declare const MCP: {
  /** List the MCP servers. */
  $api(): Promise<McpApiHeader>;
  readonly docs: typeof MCP.docs;
  readonly github: typeof MCP.github;
};
