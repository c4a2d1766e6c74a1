package domain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// DecisionLogStart records that retention deleted the first pages of a campaign's decision log. The log starts after
// page Seq, which had the hash Hash. Proof is an HMAC under the key of the workspace, so that the beginning of a log
// cannot be removed undetected without the key.
type DecisionLogStart struct {
	WorkspaceID string `json:"workspace_id"`
	CampaignID  string `json:"campaign_id"`
	Seq         int    `json:"seq"`
	Hash        string `json:"hash"`
	Proof       string `json:"proof"`
}

// Key returns the key of the start of the decision log in the store.
func (s *DecisionLogStart) Key() Key { return Key{"decision_start", s.WorkspaceID, s.CampaignID + "/"} }

// Indexes returns nil: the start of the decision log is read by key or key prefix only.
func (s *DecisionLogStart) Indexes() []string { return nil }

// Sort returns an unused sort key, because a campaign has at most one DecisionLogStart.
func (s *DecisionLogStart) Sort() string { return "" }

// Sign sets the proof, an HMAC of the other fields under key.
func (s *DecisionLogStart) Sign(key []byte) { s.Proof = s.computeProof(key) }

// IsValid reports whether the proof was made with key.
func (s *DecisionLogStart) IsValid(key []byte) bool {
	return hmac.Equal([]byte(s.Proof), []byte(s.computeProof(key)))
}

func (s *DecisionLogStart) computeProof(key []byte) string {
	var h hashWriter
	h.text(1, "start of a log of decisions")
	h.text(2, s.WorkspaceID)
	h.text(3, s.CampaignID)
	h.number(4, int64(s.Seq))
	h.text(5, s.Hash)
	mac := hmac.New(sha256.New, key)
	mac.Write(h.b)
	return hex.EncodeToString(mac.Sum(nil))
}
