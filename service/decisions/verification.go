package decisions

// DecisionsVerified says whether a log of decisions is as it was written.
type DecisionsVerified struct { //nolint:revive // the name of its schema in the OpenAPI document
	CampaignID string `json:"campaign_id"`
	Valid      bool   `json:"valid"`
	Rows       int    `json:"rows"`
	Decisions  int    `json:"decisions"`
	Head       string `json:"head"`
	BrokenRow  *int   `json:"broken_row"`
	// Rows that retention deleted, and decisions whose numbers were erased.
	DeletedRows int    `json:"deleted_rows"`
	Erased      int    `json:"erased"`
	Reason      string `json:"reason,omitempty"`
}
