/** Who may see a channel, by the library's own reckoning of roles and overwrites, on what Discord says now. */
import { type Client, DiscordAPIError, PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";

/** False for a thread or a direct chat, which have no audience of their own. Rejects with Discord's error. */
export async function maySee(client: Client<true>, personId: string, channelId: string): Promise<boolean> {
  const channel = await client.channels.fetch(channelId, { force: true });
  if (!channel || channel.isDMBased() || channel.isThread()) return false;
  try {
    // A single member may be asked for without the intent that lists them.
    const member = await channel.guild.members.fetch({ user: personId, force: true, cache: false });
    return channel.permissionsFor(member).has(PermissionFlagsBits.ViewChannel);
  } catch (error) {
    if (error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.UnknownMember) return false;
    throw error;
  }
}
