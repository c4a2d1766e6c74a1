package domain

// FindableKinds are the kinds of nouns (Key.Kind) whose id alone stands in a
// credential, so that a node must find the workspace by it. Their ids are unique
// in the install and belong to one workspace for ever.
func FindableKinds() []string { return []string{"api_key", "oauth_client"} }

// Findable says whether a kind is one of FindableKinds.
func Findable(kind string) bool { return kind == "api_key" || kind == "oauth_client" }
