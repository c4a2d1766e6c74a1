package decisions

// DecisionsVerified is the result of verifying a decision log.
type DecisionsVerified struct { //nolint:revive // the name of its schema in the OpenAPI document
	CampaignID string `json:"campaign_id"`
	Valid      bool   `json:"valid"`
	Rows       int    `json:"rows"`
	Decisions  int    `json:"decisions"`
	Head       string `json:"head"`
	BrokenRow  *int   `json:"broken_row"`
	// DeletedRows counts the log rows that the retention task deleted. Erased counts the decisions whose phone numbers were
	// erased.
	DeletedRows int    `json:"deleted_rows"`
	Erased      int    `json:"erased"`
	Reason      string `json:"reason,omitempty"`
}
