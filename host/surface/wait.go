package surface

const waitText = "Resume a suspended code mode run returned by exec. " +
	"Pass the top-level `runId` of a result with status `waiting`, never an id from inside its output or value. " +
	"It waits until a pending call settles, lets the program go on, and answers as exec does: `completed`, `failed`, or `waiting` with the same `runId` again. " +
	"`output` has only the items made since the last result."

// Wait returns the definition of wait (4.1).
func Wait() Definition {
	type properties struct {
		RunID property `json:"runId"`
	}
	return Definition{
		Name:        WaitName,
		Label:       WaitName,
		Description: waitText,
		InputSchema: schema(struct {
			Type       string     `json:"type"`
			Properties properties `json:"properties"`
			Required   []string   `json:"required"`
		}{"object", properties{property{Type: "string", Description: "The runId of the waiting result."}}, []string{"runId"}}),
		HideFromChannelProgress: true,
	}
}
