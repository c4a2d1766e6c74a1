package domain

// NeedsWorkspaceLookup reports whether credentials contain an ID of this kind (Key.Kind) but not its workspace. A node
// then has to look up the workspace. These IDs are unique in the installation and never move to another workspace.
func NeedsWorkspaceLookup(kind string) bool { return kind == "api_key" || kind == "oauth_client" }
