enum VerifyCommand { static let verb = StatusCommand.verb }
enum InspectCommand { static let verb = StatusCommand.verb }
