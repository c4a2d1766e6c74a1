package domain

// NeedsWorkspaceLookup says whether the ids of a kind of nouns (Key.Kind) stand alone in
// credentials, so that a node must find the workspace by them. Such ids are unique
// in the install and belong to one workspace for ever.
func NeedsWorkspaceLookup(kind string) bool { return kind == "api_key" || kind == "oauth_client" }
