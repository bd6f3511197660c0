interface McpApiHeader {
  kind: "mcp_api";
  scope: "root" | "server" | "tool";
  header: string;
  servers?: { identifier: string; serverName: string; toolCount: number }[];
  server?: { identifier: string; serverName: string };
  tools?: { method: string; path: string[]; mcpTool: string; operation: string; description: string }[];
  schemas?: Record<string, unknown>;
  note: string;
}

interface McpToolResult {
  content: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

declare namespace MCP.github {
  /** Return this TypeScript-style API header. */
  function $api(toolName?: string, options?: { schema?: boolean }): Promise<McpApiHeader>;

  /**
   * Create a GitHub issue.
   * It is filed at once. * / alert(1) /*
   * Last line.
   * @param title Title
   * @param body? Text of the issue, in * / Markdown
   */
  function createIssue(
    input: {
      owner: string;
      /** Title */
      title: string;
      /** Default: 30. */
      limit?: number;
      ghost: unknown;
      /** Text of the issue, in * / Markdown Default: "". */
      body?: string;
      labels?: Array<"red" | "blue">;
      state?: "open" | null | "closed";
      assignee?: { login: string; id?: number | null };
      extra?: Record<string, unknown>;
      /** Default: {"a":"* /"}. */
      "odd-name"?: boolean;
      anything?: unknown;
    }
  ): Promise<McpToolResult>;

  function listRepos(
    input?: {
      page?: number;
    }
  ): Promise<McpToolResult>;

  function ping(
    input?: Record<string, never>
  ): Promise<McpToolResult>;
}
