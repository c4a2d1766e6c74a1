package domain

// NeedsWorkspaceLookup reports whether credentials contain an ID of this kind (Key.Kind) without its workspace, so
// that a node has to look up the workspace. These IDs are unique in the installation and never change their
// workspace.
func NeedsWorkspaceLookup(kind string) bool { return kind == "api_key" || kind == "oauth_client" }
