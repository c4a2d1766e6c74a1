package calls

// NewHours are the hours of a day, in a request body, during which calls may be placed.
type NewHours struct {
	Start    string `json:"start" doc:"HH:MM" example:"09:00"`
	End      string `json:"end" doc:"HH:MM, up to 24:00" example:"20:00"`
	Timezone string `json:"timezone,omitempty" doc:"A time zone, or local for the zone of the contact."`
}
